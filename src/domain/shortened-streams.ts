/** Streams of usage are `usage-{date}-{node}`; they belong to no entity. */
export const usageStreamKind = 'usage';

/**
 * The kinds of streams whose events are removed on purpose: an archive holds them (`src/usage/archive`), and no hash
 * chain links them. Every other stream must begin at revision 0.
 */
const shortenedKinds: ReadonlyArray<string> = [usageStreamKind];

/** Whether a stream may lack its first events. */
export function mayBeShortened(stream: string): boolean {
  return shortenedKinds.some((kind) => stream.startsWith(`${kind}-`));
}
