import type { RecordedEvent } from '#event-store/event-store.ts';

/** What operators ask of projections, as recorded on the streams `projection-{name}`. */
export interface OperatorRequestEvents {
  /** Make its documents anew, beside the ones that queries read. */
  readonly ProjectionRebuildRequested: { readonly projection: string };
  /** Try the event again that it stopped at. */
  readonly ProjectionRetried: { readonly projection: string };
  /** Leave this event out whenever the projection cannot take it, and go on. */
  readonly ProjectionEventSkipped: { readonly projection: string; readonly eventId: string };
}

type OperatorEvent = {
  [Type in keyof OperatorRequestEvents]: RecordedEvent<Type, OperatorRequestEvents[Type]>;
}[keyof OperatorRequestEvents];

export const operatorRequestTypes: ReadonlyArray<string> = [
  'ProjectionRebuildRequested',
  'ProjectionRetried',
  'ProjectionEventSkipped',
] satisfies ReadonlyArray<keyof OperatorRequestEvents>;

/** Whether an event is an operator's request to the projection runner. */
export function isOperatorRequest(event: RecordedEvent<string, unknown>): event is OperatorEvent {
  return operatorRequestTypes.includes(event.type);
}
