import type { CallFailure } from './failures.ts';

/** The faults of one append. */
export type AppendFault =
  /** Stored; the answer comes late. Until then, appends with the same ids time out. */
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
  /** The faults of the next appends, in their order; each is used once. */
  readonly nextAppends: AppendFault[];
  /** The fault of every append after `nextAppends`. */
  everyAppend: AppendFault | null;
  /**
   * Behaves like a server that starts or has no leader: calls that need a leader fail with "Server Is Not Ready", and other
   * reads see an empty log.
   */
  notReady: boolean;
  /** New reads and subscriptions get no answer. */
  silentReads: boolean;
  /** The time after which a server fails an append whose ids are already in flight. */
  commitTimeoutMs: number;
  /** The repeat of an append is answered with the position of its first event, not its last. */
  repeatsTellFirstPosition: boolean;
  /** The answer to every append while another node is the leader. */
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
