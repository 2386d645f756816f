/** The count of events of a type that this release does not know. A newer release wrote them. */
export interface UnknownEventType {
  readonly type: string;
  readonly count: number;
  readonly firstPosition: number;
  readonly lastPosition: number;
}

/**
 * The counts, and the types that were known at that time. If this release does not know one of these, the log is
 * counted again.
 */
export interface UnknownEventsState {
  readonly types: ReadonlyArray<UnknownEventType>;
  readonly knownTypes: ReadonlyArray<string>;
}
