/** `UsageRecorded` from version 1 to 2: what was spoken and heard was not counted then. */
export function withAudio(data: object): object {
  const { usage, ...others } = data as { readonly usage: ReadonlyArray<object> };
  return { ...others, usage: usage.map((entry) => ({ ...entry, characters: 0, audioSeconds: 0 })) };
}
