/** `UsageRecorded` from version 2 to 3: whose key it was, and what failed on the way, was not recorded then. */
export function withTenant(data: object): object {
  const { usage, ...others } = data as { readonly usage: ReadonlyArray<object> };
  const unknown = { organizationId: null, projectId: null, partnerId: null, failedTries: [] };
  return { ...others, usage: usage.map((entry) => ({ ...entry, ...unknown })) };
}
