import * as t from 'io-ts';

/** What an operator asked of a projection; the runner obeys when it meets it in the log. */
export const projectionEvents = {
  ProjectionRebuildRequested: t.type({ projection: t.string }),
  ProjectionRetried: t.type({ projection: t.string }),
  ProjectionEventSkipped: t.type({ projection: t.string, eventId: t.string }),
};

export type ProjectionEvents = { [Type in keyof typeof projectionEvents]: t.TypeOf<(typeof projectionEvents)[Type]> };
