import type { DocumentValue } from '#read-store/read-store.ts';

/** A document in memory. `value` is null when it is known not to exist. */
export interface BufferedDocument {
  readonly id: string;
  order: number;
  position: number;
  value: DocumentValue | null;
  /** Of memory, by estimate, as of when it was last read or written. */
  bytes: number;
  /** It differs from what is stored. */
  changed: boolean;
  /** An event was applied to it since the last commit. */
  used: boolean;
  /** The last event that was applied to it, by the buffer's count of them. */
  applied: number;
}
