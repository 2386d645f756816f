import type { RecordedEvent } from '#event-store/event-store.ts';

/** What operators ask of projections, as recorded on the streams `projection-{name}`. */
export interface OperatorRequestEvents {
  /** Rebuild its documents beside the ones that queries read. */
  readonly ProjectionRebuildRequested: { readonly projection: string };
  /** Retry the event at which it stopped. */
  readonly ProjectionRetried: { readonly projection: string };
  /** Skip this event whenever the projection cannot handle it, and continue. */
  readonly ProjectionEventSkipped: { readonly projection: string; readonly eventId: string };
}

/** An event in which an operator asks something of a projection. */
export type OperatorRequest = {
  [Type in keyof OperatorRequestEvents]: RecordedEvent<Type, OperatorRequestEvents[Type]>;
}[keyof OperatorRequestEvents];

/** The types of events that are requests of operators. */
export const operatorRequestTypes: ReadonlyArray<string> = [
  'ProjectionRebuildRequested',
  'ProjectionRetried',
  'ProjectionEventSkipped',
] satisfies ReadonlyArray<keyof OperatorRequestEvents>;

/** Whether an event is an operator's request to the projection runner. */
export function isOperatorRequest(event: RecordedEvent<string, unknown>): event is OperatorRequest {
  return operatorRequestTypes.includes(event.type);
}
