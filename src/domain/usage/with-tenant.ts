/** Upcasts `UsageRecorded` from version 2 to 3: version 2 did not record the key's tenant and failed attempts. */
export function withTenant(data: object): object {
  const { usage, ...others } = data as { readonly usage: ReadonlyArray<object> };
  const unknown = { organizationId: null, projectId: null, partnerId: null, failedTries: [] };
  return { ...others, usage: usage.map((entry) => ({ ...entry, ...unknown })) };
}
