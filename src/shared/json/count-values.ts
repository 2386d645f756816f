import type { Json } from './json.ts';

/** Counts the JSON values of a value: itself, and those in it. */
export function countValues(value: Json | undefined): number {
  if (typeof value !== 'object' || value === null) return 1;
  return Object.values(value).reduce<number>((sum, each) => sum + countValues(each), 1);
}
