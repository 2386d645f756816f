import { randomUUID } from 'node:crypto';
import type { EventStoreDbDouble } from './eventstoredb-double.ts';

const encoder = new TextEncoder();
const nothing = new Uint8Array();

/** Unusual events that other applications may store on the same server, by kind. */
export const foreignEvents = {
  json: { type: 'OrderPlaced', isJson: true, data: encoder.encode('{"order":1}'), metadata: nothing },
  binary: { type: 'Blob', isJson: false, data: new Uint8Array([0xff, 0, 0xfe, 0x80]), metadata: nothing },
  empty: { type: 'Ping', isJson: true, data: nothing, metadata: nothing },
} as const;

const streams = 1_000;

/** Appends events of another application to that application's stream. */
export function appendForeignEvents({ log }: EventStoreDbDouble, count: number): void {
  const kinds = Object.values(foreignEvents);
  for (let number = 0; number < count; number += 1) {
    const event = kinds[number % kinds.length] ?? foreignEvents.json;
    log.append(`orders-${number % streams}`, 'any', [{ id: randomUUID(), ...event }]);
  }
}
