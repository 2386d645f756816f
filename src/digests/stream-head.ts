import { StreamHead } from '#domain/history/digest.ts';
import type { ReadonlyChainHeads } from '#event-store/chain-heads.ts';
import { canonicalJson } from '#shared/json/canonical-json.ts';

/** A head as a leaf of the Merkle tree and as a line of a file, without the line's end: canonical JSON (RFC 8785). */
export function leafOf({ hash, revision, stream }: StreamHead): string {
  return canonicalJson({ hash, revision, stream });
}

/** Reads a line of `leafOf`. @throws SyntaxError or TypeError for any other line */
export function headOfLine(line: string): StreamHead {
  const head: unknown = JSON.parse(line);
  if (!StreamHead.is(head)) throw new TypeError('It is not a head of a stream.');
  return head;
}

/**
 * The streams in the order of heads in files and in the tree: by the code units of their names, as RFC 8785 orders
 * names.
 */
export function sortedStreams(heads: ReadonlyChainHeads): ReadonlyArray<string> {
  // The default order of `sort` is that of code units.
  return [...heads.streams()].sort();
}
