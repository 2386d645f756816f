import { createInterface } from 'node:readline';
import type { Order } from './double-process.ts';
import { EventStoreDbDouble } from './eventstoredb-double.ts';
import { appendForeignEvents } from './foreign-events.ts';
import { SyncedFile } from './synced-file.ts';

// Runs a double in this process: prints its URL, carries out an order for each line of standard input and prints a line
// after it. Exits when standard input closes. An argument names a file to which its appends are synced.
const [, , file] = process.argv;
const double = await EventStoreDbDouble.start(file === undefined ? {} : { disk: await SyncedFile.create(file) });
process.stdout.write(`${double.url}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  process.stdout.write(`${await carryOut(order)}\n`);
}
process.exit();

async function carryOut(order: Order): Promise<string> {
  if ('report' in order) return JSON.stringify(double.callsByKind);
  if ('faults' in order) Object.assign(double.faults, order.faults);
  else if ('manner' in order) double.manner = order.manner;
  else if ('foreignEvents' in order) appendForeignEvents(double, order.foreignEvents);
  else await double[order.call]();
  return 'done';
}
