import type { CallFailure } from './failures.ts';

/** What may go wrong with one append. */
export type AppendFault =
  /** Stored; the answer comes late. Meanwhile the same ids again are not answered before they time out. */
  | { readonly kind: 'answer-late'; readonly milliseconds: number }
  /** Stored; no answer ever comes. */
  | { readonly kind: 'store-and-drop-answer' }
  /** Stored; the call then fails as given. */
  | { readonly kind: 'store-and-fail'; readonly failure: CallFailure }
  /** Stored; every connection is then cut. */
  | { readonly kind: 'store-and-cut' }
  /** Neither stored nor answered. */
  | { readonly kind: 'ignore' }
  /** Not stored; the call fails as given. */
  | { readonly kind: 'fail'; readonly failure: CallFailure };

/** Faults of the double, on demand. Those of the connection are on the double itself. */
export interface Faults {
  /** One for each of the next appends, in the order they come in; each is used up. */
  readonly nextAppends: AppendFault[];
  /** What goes wrong with every append, once `nextAppends` is used up. */
  everyAppend: AppendFault | null;
  /**
   * As while a server starts or has no leader: what needs a leader is answered "Server Is Not Ready", and reads that do
   * not are answered as if nothing were stored.
   */
  notReady: boolean;
  /** Reads and subscriptions that begin are left without an answer. */
  silentReads: boolean;
  /** How long a server takes to give up an append whose ids are in flight already. */
  commitTimeoutMs: number;
  /** The repeat of an append is answered with the position of its first event, not its last. */
  repeatsTellFirstPosition: boolean;
  /** What every append is answered while another node leads. */
  notLeader: CallFailure | null;
}

/** Nothing goes wrong. */
export function noFaults(): Faults {
  return {
    nextAppends: [],
    everyAppend: null,
    notReady: false,
    silentReads: false,
    commitTimeoutMs: 2_000,
    repeatsTellFirstPosition: false,
    notLeader: null,
  };
}
