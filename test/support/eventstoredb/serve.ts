import { createInterface } from 'node:readline';
import type { Order } from './double-process.ts';
import { EventStoreDbDouble } from './eventstoredb-double.ts';
import { appendForeignEvents } from './foreign-events.ts';
import { SyncedFile } from './synced-file.ts';

// Runs a double in this process: prints its URL, carries out an order for each line of standard input and prints a line
// after it. Exits when standard input closes. An argument names a file to which its appends are synced.
const [, , file] = process.argv;
const double = await EventStoreDbDouble.start(file === undefined ? {} : { disk: await SyncedFile.create(file) });
let copy = double.log.copy();
process.stdout.write(`${double.url}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  process.stdout.write(`${await carryOut(order)}\n`);
}
process.exit();

async function carryOut(order: Order): Promise<string> {
  if ('report' in order) return order.report === 'calls' ? JSON.stringify(double.callsByKind) : `${double.bytesSent}`;
  if ('faults' in order) Object.assign(double.faults, order.faults);
  else if ('limits' in order) Object.assign(double.limits, order.limits);
  else if ('manner' in order) double.manner = order.manner;
  else if ('rights' in order) double.access.anonymous = order.rights;
  else if ('foreignEvents' in order) appendForeignEvents(double, order.foreignEvents);
  else if ('metadata' in order) double.log.setMetadata(order.stream, order.metadata);
  else if ('remove' in order) double.log[order.remove](order.stream, 'any');
  else if ('pauseMs' in order) await double.pause(order.pauseMs);
  else if ('log' in order) await changeLog(order.log);
  else await double[order.call]();
  return 'done';
}

async function changeLog(how: 'copy' | 'restore' | 'scavenge'): Promise<void> {
  if (how === 'copy') copy = double.log.copy();
  else if (how === 'scavenge') double.log.scavenge();
  else await double.restore(copy);
}
