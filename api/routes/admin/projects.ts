import { createRoute, z } from '@hono/zod-openapi';
import { CreateProject, Project, ProjectList, RenameAccount } from '../../../contracts/account.ts';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { createProject, getProject, listTenantProjects, updateProject } from '../../operations/projects.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { ADMIN_ROUTE, adminsOnly, MAX_BODY_BYTES, ProjectParams, TENANT, TenantParams } from './paths.ts';

const PROJECTS = `${TENANT}/projects`;
const PROJECT = `${PROJECTS}/{project_id}`;

const addRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_create_project',
  summary: 'Make a project of a tenant',
  description: 'Jobs, keys and budgets can be of it.',
  method: 'post',
  path: PROJECTS,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: TenantParams,
    headers: IdempotencyHeader,
    body: jsonBody(CreateProject, { required: true }),
  },
  responses: { 201: jsonResponse(Project, 'The project.'), ...errorResponses(404, 409, 413, 415) },
});

const listRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_list_projects',
  summary: 'A tenant’s projects, by id',
  method: 'get',
  path: PROJECTS,
  middleware: adminsOnly,
  request: { params: TenantParams, query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(ProjectList, 'The projects.'), ...errorResponses(404) },
});

const getRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_get_project',
  summary: 'A project of a tenant',
  method: 'get',
  path: PROJECT,
  middleware: adminsOnly,
  request: { params: ProjectParams },
  responses: { 200: jsonResponse(Project, 'The project.'), ...errorResponses(404) },
});

const updateRoute = createRoute({
  ...ADMIN_ROUTE,
  operationId: 'admin_update_project',
  summary: 'Rename a project',
  method: 'patch',
  path: PROJECT,
  middleware: [adminsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { params: ProjectParams, body: jsonBody(RenameAccount, { required: true }) },
  responses: { 200: jsonResponse(Project, 'The project as it is now.'), ...errorResponses(404, 413, 415) },
});

export function registerAdminProjects(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(addRoute, async (c) => {
    const answer = await createProject(dependencies, {
      principal: c.var.principal,
      tenantId: c.req.valid('param').tenant_id,
      wanted: c.req.valid('json'),
      idempotency: idempotencyOf(c, dependencies.now()),
    });
    return keptAnswer(c, answer, 201);
  });
  app.openapi(listRoute, async (c) => {
    const { tenant_id: tenantId } = c.req.valid('param');
    return c.json(await listTenantProjects(dependencies, { tenantId, ...c.req.valid('query') }), 200);
  });
  app.openapi(getRoute, async (c) => {
    const { tenant_id: tenantId, project_id: projectId } = c.req.valid('param');
    return c.json(await getProject(dependencies, { tenantId, projectId }), 200);
  });
  app.openapi(updateRoute, async (c) => {
    const { tenant_id: tenantId, project_id: projectId } = c.req.valid('param');
    const request = { principal: c.var.principal, tenantId, projectId, change: c.req.valid('json') };
    return c.json(await updateProject(dependencies, request), 200);
  });
}
