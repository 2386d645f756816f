import { type Failure, failure } from '#domain/shared/failure.ts';
import type { Plane } from '#exchange/problem.ts';
import pathsOfPlanes from './paths-of-planes.json' with { type: 'json' };

/** A plane that nodes with another role serve, and the failure that says so. */
export interface OtherRole {
  readonly plane: Plane;
  readonly failure: Failure;
}

/** Finds the role of a path; null for one that no role serves. */
export type FindOtherRole = (path: string) => OtherRole | null;

/** The pages and files below `/docs` and `/dashboard`. */
const pages = ['/docs/.+', '/dashboard/.+'];

const roleOf = { control: 'control-plane', gateway: 'gateway' } as const;

/**
 * The paths come from a generated file, because a node of the gateway alone does not load the operations of others.
 * @param planes of this node
 */
export function createFindOtherRole(planes: ReadonlySet<Plane>): FindOtherRole {
  const others = (['control', 'gateway'] as const).filter((plane) => !planes.has(plane));
  const served = others.map((plane) => {
    const forms = pathsOfPlanes[plane].map((path) => path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+'));
    const all = plane === 'control' ? [...forms, ...pages] : forms;
    return { plane, form: new RegExp(`^(?:${all.join('|')})$`) };
  });
  return (path) => {
    const found = served.find(({ form }) => form.test(path));
    if (found === undefined) return null;
    const role = roleOf[found.plane];
    const detail = `Nodes with the role ${role} serve this path, and this node has another role: send the request to one of them, or to the proxy in front of all nodes.`;
    return { plane: found.plane, failure: failure('path-not-found', detail) };
  };
}
