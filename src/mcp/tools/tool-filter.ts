import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';

/** The filter of a connection's tools. */
export interface ToolFilter {
  /** Whether only queries are listed. */
  readonly readOnly: boolean;
  /** The resources whose tools are listed; null for all. */
  readonly resources: ReadonlySet<string> | null;
}

/**
 * Reads the filter of a request: `?readonly=1` or the header `x-switchyard-readonly`, and `?tools=flows,templates`.
 * @param known all resources
 * @returns invalid-input for an unknown resource
 */
export function readToolFilter(
  query: URLSearchParams,
  readOnlyHeader: unknown,
  known: ReadonlySet<string>,
): E.Either<Failure, ToolFilter> {
  const wanted = query.get('tools');
  const names = wanted === null ? null : wanted.split(',').map((name) => name.trim());
  const unknown = names?.find((name) => !known.has(name));
  if (unknown !== undefined) {
    const message = `must be a list of these, with commas between: ${[...known].join(', ')}`;
    return E.left(invalidInput([{ pointer: '/tools', message }]));
  }
  const readOnly = isOn(query.get('readonly')) || isOn(readOnlyHeader);
  return E.right({ readOnly, resources: names === null ? null : new Set(names) });
}

/** Any value but a clear no means yes, so that a mistake never gives more rights. */
function isOn(value: unknown): boolean {
  return typeof value === 'string' && !['0', 'false', 'no'].includes(value.trim().toLowerCase());
}
