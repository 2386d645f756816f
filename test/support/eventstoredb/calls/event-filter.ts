import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { LoggedEvent } from '#test/support/eventstoredb/event-log.ts';

/** The events looked at before a server may send a checkpoint, when the client does not say. */
const defaultWindow = 32;

/** What a filtered read or subscription lets through, and how often it tells where it is. */
export interface EventFilter {
  readonly allows: (event: LoggedEvent) => boolean;
  /** Events looked at in one page at most. */
  readonly window: number;
  /** Events looked at between two checkpoints. */
  readonly checkpointEvery: number;
}

/** @throws SyntaxError for a regular expression that is none */
export function eventFilter(options: ReadReq.Options.FilterOptions): EventFilter {
  const byStream = options.getStreamIdentifier();
  const matches = matcher(byStream ?? options.getEventType());
  const window = options.hasMax() ? options.getMax() : defaultWindow;
  return {
    allows: (event) => matches(byStream === undefined ? event.type : event.stream),
    window,
    checkpointEvery: window * options.getCheckpointintervalmultiplier(),
  };
}

function matcher(expression: ReadReq.Options.FilterOptions.Expression | undefined): (text: string) => boolean {
  const regex = expression?.getRegex() ?? '';
  if (regex !== '') {
    const compiled = new RegExp(regex);
    return (text) => compiled.test(text);
  }
  const prefixes = expression?.getPrefixList() ?? [];
  return (text) => prefixes.some((prefix) => text.startsWith(prefix));
}
