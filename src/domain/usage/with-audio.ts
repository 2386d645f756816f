/** Upcasts `UsageRecorded` from version 1 to 2: version 1 did not count speech and transcription. */
export function withAudio(data: object): object {
  const { usage, ...others } = data as { readonly usage: ReadonlyArray<object> };
  return { ...others, usage: usage.map((entry) => ({ ...entry, characters: 0, audioSeconds: 0 })) };
}
