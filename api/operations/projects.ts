import type { CreateProject, Project, ProjectList, RenameAccount } from '../../contracts/account.ts';
import { isStorable } from '../../contracts/metadata.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findProject, insertProject, listProjects, renameProject } from '../../db/projects.ts';
import { inTransaction } from '../../db/transaction.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentProject } from '../presentation/account.ts';
import { idTaken } from './create-tenant.ts';
import { requireTenant } from './known-tenant.ts';
import { type KeptAnswer, once } from './once.ts';
import { type PageWish, pageById } from './page-by-id.ts';

type Dependencies = Pick<ApiDependencies, 'db'>;

/** Which project of which tenant. */
export interface ProjectRequest {
  readonly tenantId: string;
  readonly projectId: string;
}

/** Throws `not_found` for an unknown tenant, or `conflict` for an id that is taken in it. */
export async function createProject(
  dependencies: Dependencies,
  request: {
    readonly principal: Principal;
    readonly tenantId: string;
    readonly wanted: CreateProject;
    readonly idempotency: IdempotentRequest | null;
  },
): Promise<KeptAnswer> {
  const { principal, tenantId, wanted, idempotency } = request;
  await requireTenant(dependencies, tenantId);
  const { project_id: projectId = newId('project'), name } = wanted;
  return inTransaction(dependencies.db, (client) =>
    once(client, idempotency, async () => {
      if (!(await insertProject(client, { tenantId, projectId, name }))) throw idTaken('project', projectId);
      await recordAudit(client, { act: 'project.created', actor: principal.keyId, tenantId, subject: projectId });
      const created = await findProject(client, tenantId, projectId);
      if (created === null) throw new Error('an inserted project was not found');
      return { status: 201, body: JSON.stringify(presentProject(tenantId, created)) };
    }),
  );
}

/** Throws `not_found`. */
export async function getProject(
  dependencies: Dependencies,
  { tenantId, projectId }: ProjectRequest,
): Promise<Project> {
  await requireTenant(dependencies, tenantId);
  const found = isStorable(projectId) ? await findProject(dependencies.db.pool, tenantId, projectId) : null;
  if (found === null) throw noSuchProject();
  return presentProject(tenantId, found);
}

/** A tenant's projects, by id. Throws `not_found`. */
export async function listTenantProjects(
  dependencies: Dependencies,
  { tenantId, ...wish }: PageWish & { readonly tenantId: string },
): Promise<ProjectList> {
  await requireTenant(dependencies, tenantId);
  return pageById('projects', wish, (page) => listProjects(dependencies.db.pool, tenantId, page), {
    idOf: ({ projectId }) => projectId,
    present: (project) => presentProject(tenantId, project),
  });
}

/** Gives it another name. Throws `not_found`. */
export async function updateProject(
  dependencies: Dependencies,
  request: ProjectRequest & { readonly principal: Principal; readonly change: RenameAccount },
): Promise<Project> {
  const { principal, tenantId, projectId, change } = request;
  await requireTenant(dependencies, tenantId);
  if (!isStorable(projectId)) throw noSuchProject();
  await inTransaction(dependencies.db, async (client) => {
    if (!(await renameProject(client, { tenantId, projectId, name: change.name }))) throw noSuchProject();
    const details = { fields: ['name'] };
    await recordAudit(client, {
      act: 'project.changed',
      actor: principal.keyId,
      tenantId,
      subject: projectId,
      details,
    });
  });
  return getProject(dependencies, { tenantId, projectId });
}

function noSuchProject(): GatewayError {
  return new GatewayError('not_found', 'The tenant has no such project.');
}
