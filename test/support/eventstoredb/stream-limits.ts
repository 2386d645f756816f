/** The revision of a tombstone, and the truncation mark of a soft delete: the largest signed 64-bit number. */
export const maxRevision = 9223372036854775807n;

/** The metadata of a stream, by the server's names. */
export type StreamMetadata = Readonly<Record<string, unknown>>;

/** Which events of a stream its readers do not see. */
export interface StreamLimits {
  readonly truncateBefore: bigint;
  readonly maxCount: number;
  readonly maxAgeMs: number;
}

/** Of a stream without metadata. */
export const noLimits: StreamLimits = {
  truncateBefore: 0n,
  maxCount: Number.POSITIVE_INFINITY,
  maxAgeMs: Number.POSITIVE_INFINITY,
};

/** Reads the limits from a stream's metadata. */
export function streamLimits({ $tb, $maxCount, $maxAge }: StreamMetadata): StreamLimits {
  return {
    truncateBefore: typeof $tb === 'number' ? revisionOf($tb) : 0n,
    maxCount: typeof $maxCount === 'number' ? $maxCount : Number.POSITIVE_INFINITY,
    maxAgeMs: typeof $maxAge === 'number' ? $maxAge * 1_000 : Number.POSITIVE_INFINITY,
  };
}

/** Parses stored metadata; what is no JSON object says nothing. */
export function parsedMetadata(data: Uint8Array): StreamMetadata {
  try {
    return JSON.parse(Buffer.from(data).toString()) as StreamMetadata;
  } catch {
    return {};
  }
}

/** Writes metadata, whose revisions may be bigints. */
export function metadataText(metadata: StreamMetadata): string {
  const members = Object.entries(metadata).map(
    ([key, value]) => `${JSON.stringify(key)}:${typeof value === 'bigint' ? value : JSON.stringify(value)}`,
  );
  return `{${members.join(',')}}`;
}

/** JSON numbers above 2^53 lose their last digits: the mark of a soft delete is known by its size. */
function revisionOf(number: number): bigint {
  return number > Number.MAX_SAFE_INTEGER ? maxRevision : BigInt(number);
}
