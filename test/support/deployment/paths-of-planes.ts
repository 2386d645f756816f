import type { AnyOperation } from '#application/operations/operation.ts';
import { dashboardPath } from '#dashboard/page-paths.ts';
import { writeDigestOperation } from '#digests/write-digest-operation.ts';
import type { Plane } from '#exchange/problem.ts';
import { docsPath } from '#http/docs/docs-routes.ts';
import { createFeedOperation } from '#live-feed/feed-operation.ts';
import { allOperations } from '#test/support/openapi/all-operations.ts';
import { archiveUsageOperation } from '#usage/archive/archive-usage-operation.ts';

/** The paths that each plane serves, in order, with `:name` for a parameter. */
export type PathsOfPlanes = Readonly<Record<Plane, ReadonlyArray<string>>>;

/** What the control plane serves in addition to its operations. */
const unlisted = ['/mcp', '/openapi.json', docsPath, dashboardPath];

/** Lists the paths of every operation. */
export function pathsOfPlanes(): PathsOfPlanes {
  const operations: ReadonlyArray<AnyOperation> = [
    ...allOperations(),
    writeDigestOperation(null),
    archiveUsageOperation({} as never),
    createFeedOperation({} as never),
  ];
  const of = (plane: Plane) => operations.filter((each) => each.plane === plane).map(({ http }) => http.path);
  const inOrder = (paths: ReadonlyArray<string>) => [...new Set(paths)].sort();
  return { control: inOrder([...of('control'), ...unlisted]), gateway: inOrder(of('gateway')) };
}

const snippet = /(?<=\n\(gateway-paths\) \{\n\tpath )[^\n]*/;

/**
 * Puts the paths of the gateway into the proxy's configuration: all that begin as one of its operations, so that a path
 * that resembles one is refused in the gateway's error form.
 * @throws Error if operations of both planes begin alike, or if the configuration has no place for the paths
 */
export function withGatewayPaths(configuration: string, { control, gateway }: PathsOfPlanes): string {
  const beginnings = [...new Set(gateway.map(beginningOf))];
  const shared = control.find((path) => beginnings.includes(beginningOf(path)));
  if (shared !== undefined) throw new Error(`Both planes have operations that begin as ${shared}.`);
  if (!snippet.test(configuration)) throw new Error('The configuration has no snippet (gateway-paths).');
  return configuration.replace(snippet, beginnings.map((beginning) => `${beginning} ${beginning}/*`).join(' '));
}

/** `/v1/files` for `/v1/files/:file_id`. */
function beginningOf(path: string): string {
  return path.split('/').slice(0, 3).join('/');
}
