import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import type { EventStoreDbDoubleProcess } from '#test/support/eventstoredb/double-process.ts';

/** Another application on the same server. */
export interface ForeignApplication {
  /** Appends this many events to its own streams. */
  readonly append: (events: number) => Promise<void>;
  readonly close: () => Promise<void>;
}

const streams = 1_000;
const eventsTogether = 250;
const inFlight = 16;

/** An application in the double's process, where it costs only the appends. */
export function foreignApplicationIn(double: EventStoreDbDoubleProcess): ForeignApplication {
  return { append: (events) => double.order({ foreignEvents: events }), close: async () => undefined };
}

/** An application that appends to a server by the bare client. */
export function foreignApplicationOn(url: string): ForeignApplication {
  const client = EventStoreDBClient.connectionString(url);
  let number = 0;
  const newEvent = () => {
    number += 1;
    return number % 2 === 0
      ? jsonEvent({ type: 'OrderPlaced', data: { order: number } })
      : binaryEvent({ type: 'Blob', data: new Uint8Array([0xff, 0, 0xfe, 0x80]) });
  };
  return {
    append: async (events) => {
      let left = events;
      const worker = async () => {
        while (left > 0) {
          const count = Math.min(left, eventsTogether);
          left -= count;
          await client.appendToStream(`orders-${number % streams}`, Array.from({ length: count }, newEvent));
        }
      };
      await Promise.all(Array.from({ length: inFlight }, worker));
    },
    close: () => client.dispose(),
  };
}
