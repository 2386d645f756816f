import * as t from 'io-ts';

/** Operators' requests to a projection. The runner follows them when it reads them from the log. */
export const projectionEvents = {
  ProjectionRebuildRequested: t.type({ projection: t.string }),
  ProjectionRetried: t.type({ projection: t.string }),
  ProjectionEventSkipped: t.type({ projection: t.string, eventId: t.string }),
};

export type ProjectionEvents = { [Type in keyof typeof projectionEvents]: t.TypeOf<(typeof projectionEvents)[Type]> };
