import { invalidInput } from '#application/operations/input-errors.ts';
import type { RequestHeaders } from '#application/operations/operation-request.ts';

const name = 'dryRun';

/** Reads `dryRun` from a command's query. `fault` is why its value is invalid. */
export function readDryRun(query: string): Pick<RequestHeaders, 'dryRun'> & Partial<Pick<RequestHeaders, 'fault'>> {
  // Most requests have no query.
  if (!query.includes(name)) return {};
  const [value, ...others] = new URLSearchParams(query).getAll(name);
  if (value === undefined || (value === 'false' && others.length === 0)) return {};
  if (value === 'true' && others.length === 0) return { dryRun: true };
  const message = others.length > 0 ? 'must be given once' : 'must be true or false';
  // A misspelt value must not turn a dry run into a change.
  return { dryRun: true, fault: invalidInput([{ pointer: `/${name}`, parameter: name, message }]) };
}

/** Returns the query without `dryRun`, to recognize a repeated request. */
export function withoutDryRun(query: string): string {
  if (!query.includes(name)) return query;
  const parameters = new URLSearchParams(query);
  parameters.delete(name);
  return parameters.toString();
}
