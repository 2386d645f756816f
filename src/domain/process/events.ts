import * as t from 'io-ts';

/** What an operator asked of a process that has stopped; its runner obeys when it meets it in the log. */
export const processEvents = {
  ProcessRetried: t.type({ process: t.string }),
  ProcessEventSkipped: t.type({ process: t.string, eventId: t.string }),
};

export type ProcessEvents = { [Type in keyof typeof processEvents]: t.TypeOf<(typeof processEvents)[Type]> };
