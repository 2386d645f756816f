import type { ReadReq } from '@eventstore/db-client/generated/streams_pb.js';
import type { LoggedEvent } from '#test/support/eventstoredb/event-log.ts';

/** The default number of scanned events before a server may send a checkpoint. */
const defaultWindow = 32;

/** The events that a filtered read or subscription delivers, and how often it sends checkpoints. */
export interface EventFilter {
  readonly allows: (event: LoggedEvent) => boolean;
  /** The maximum number of events that are scanned for one page. */
  readonly window: number;
  /** The number of scanned events between two checkpoints. */
  readonly checkpointEvery: number;
}

/** @throws SyntaxError for an invalid regular expression */
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
