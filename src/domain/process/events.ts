import * as t from 'io-ts';

/** Operators' requests to a stopped process. Its runner follows them when it reads them from the log. */
export const processEvents = {
  ProcessRetried: t.type({ process: t.string }),
  ProcessEventSkipped: t.type({ process: t.string, eventId: t.string }),
};

export type ProcessEvents = { [Type in keyof typeof processEvents]: t.TypeOf<(typeof processEvents)[Type]> };
