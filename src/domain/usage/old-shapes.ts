/** `UsageRecorded` from version 1 to 2: version 1 did not count speech and transcription. */
export function withAudio(data: object): object {
  const { usage, ...others } = data as { readonly usage: ReadonlyArray<object> };
  return { ...others, usage: usage.map((entry) => ({ ...entry, characters: 0, audioSeconds: 0 })) };
}

/** `UsageRecorded` from version 2 to 3: version 2 did not record the key's tenant and failed attempts. */
export function withTenant(data: object): object {
  const { usage, ...others } = data as { readonly usage: ReadonlyArray<object> };
  const unknown = { organizationId: null, projectId: null, partnerId: null, failedTries: [] };
  return { ...others, usage: usage.map((entry) => ({ ...entry, ...unknown })) };
}

/** `UsageRecorded` from version 3 to 4, and `UsageDayClosed` from 1 to 2: these did not record parts of tokens. */
export function withTokenParts(data: object): object {
  const { usage, ...others } = data as { readonly usage: ReadonlyArray<object> };
  const unknown = { cachedInputTokens: null, cacheWriteTokens: null, reasoningTokens: null };
  return { ...others, usage: usage.map((entry) => ({ ...entry, ...unknown })) };
}
