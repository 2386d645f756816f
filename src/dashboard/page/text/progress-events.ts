/** The types of events between the request and the outcome of an operation, which has dozens of them. */
const types: ReadonlySet<string> = new Set(['InstanceProgressed']);

/** Lists hide progress until it is asked for. */
export function isProgress({ type }: { readonly type: string }): boolean {
  return types.has(type);
}
