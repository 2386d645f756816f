import { hash as sha256 } from 'node:crypto';
import { upcasters } from '#domain/upcasters.ts';
import { type ClosedUsageStream, hourOf, type UsageEvents } from '#domain/usage/events.ts';
import type { StoredEvent } from '#event-store/event-store.ts';
import { recordedEvent, upcastWith } from '#event-store/recorded-event.ts';
import { eventLine } from '#event-store/transfer/log-file/event-line.ts';
import { HourlyTotals } from './hourly-totals.ts';

/** The hash of a stream without counted events. */
export const emptyHash = '0'.repeat(64);

const upcast = upcastWith(upcasters);

/** The line with its line feed. */
export function archiveLine(event: StoredEvent): string {
  return `${eventLine(event)}\n`;
}

/** Extends the hash over a stream's events by the next event. @param lineHash of its line */
export function hashAfter(hash: string, lineHash: string): string {
  return sha256('sha256', hash + lineHash);
}

export function lineHashOf(line: string): string {
  return sha256('sha256', line);
}

/** Counts only events that no closing has counted. */
export class StreamCount {
  readonly #stream: string;
  /** The count of earlier closings; null without one. */
  readonly #closed: ClosedUsageStream | null;
  readonly #accuracies = new Set<number>();
  #sums = new HourlyTotals();
  #callsLost = 0;
  #events = 0;
  #hash: string;
  #lastEvent: string | null = null;

  constructor(stream: string, closed: ClosedUsageStream | null) {
    this.#stream = stream;
    this.#closed = closed;
    this.#hash = closed?.hash ?? emptyHash;
  }

  /**
   * Events that closings have counted may already be removed.
   * @throws UnreadableEventError
   */
  add(event: StoredEvent): void {
    if (event.id === this.#closed?.lastEvent) this.#beginAgain(this.#closed.hash);
    else this.#count(event);
  }

  /** The count; null without new events. */
  closed(): ClosedUsageStream | null {
    if (this.#lastEvent === null) return null;
    const events = (this.#closed?.events ?? 0) + this.#events;
    return { stream: this.#stream, events, lastEvent: this.#lastEvent, hash: this.#hash };
  }

  get sums(): HourlyTotals {
    return this.#sums;
  }

  get callsLost(): number {
    return this.#callsLost;
  }

  get accuracies(): ReadonlySet<number> {
    return this.#accuracies;
  }

  #beginAgain(hash: string): void {
    this.#sums = new HourlyTotals();
    this.#callsLost = 0;
    this.#events = 0;
    this.#hash = hash;
    this.#lastEvent = null;
  }

  #count(event: StoredEvent): void {
    const { data } = recordedEvent({ position: 0, ...event }, upcast);
    const { until, usage, callsLost, relativeAccuracy } = data as unknown as UsageEvents['UsageRecorded'];
    const hour = hourOf(until);
    for (const entry of usage) this.#sums.add({ hour, ...entry });
    this.#accuracies.add(relativeAccuracy);
    this.#callsLost += callsLost;
    this.#events += 1;
    this.#hash = hashAfter(this.#hash, lineHashOf(archiveLine(event)));
    this.#lastEvent = event.id;
  }
}
