import type { ApiApp } from '../../api/env.ts';
import { openApiDocument } from '../../api/openapi.ts';

interface DeclaredRoute {
  readonly method: string;
  readonly path: RegExp;
  readonly statuses: readonly string[];
}

const known = new WeakMap<ApiApp, readonly DeclaredRoute[]>();

/** Throws when a declared route answered with a status that its contract does not have. */
export function requireDeclaredStatus(app: ApiApp, method: string, url: string, status: number): void {
  const path = url.split('?', 1)[0] ?? '';
  const route = routesOf(app).find((candidate) => candidate.method === method && candidate.path.test(path));
  if (route === undefined || route.statuses.includes(String(status))) return;
  throw new Error(`${method} ${path} answered ${status}, which its route does not declare: ${route.statuses}`);
}

/** Those without parameters first, as the router takes them. */
function routesOf(app: ApiApp): readonly DeclaredRoute[] {
  const kept = known.get(app);
  if (kept !== undefined) return kept;
  const paths = Object.entries(openApiDocument(app).paths ?? {}).toSorted(
    ([one], [other]) => one.split('{').length - other.split('{').length,
  );
  const routes = paths.flatMap(([path, item]) =>
    Object.entries(item as Record<string, { responses?: object }>).map(([method, { responses }]) => ({
      method: method.toUpperCase(),
      path: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`),
      statuses: Object.keys(responses ?? {}),
    })),
  );
  known.set(app, routes);
  return routes;
}
