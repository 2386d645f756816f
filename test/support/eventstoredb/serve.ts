import { createInterface } from 'node:readline';
import type { Order } from './double-process.ts';
import { EventStoreDbDouble } from './eventstoredb-double.ts';

// A double in a process of its own: prints its URL on a line; carries out an order for each line of its standard input
// and prints a line then; goes when that closes.
const double = await EventStoreDbDouble.start();
process.stdout.write(`${double.url}\n`);
for await (const line of createInterface({ input: process.stdin })) {
  const order = JSON.parse(line) as Order;
  if ('faults' in order) Object.assign(double.faults, order.faults);
  else await double[order.call]();
  process.stdout.write('done\n');
}
process.exit();
