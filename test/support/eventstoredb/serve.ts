import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';

// A double in a process of its own: prints its URL on a line, and goes when its standard input closes.
const double = await EventStoreDbDouble.start();
process.stdout.write(`${double.url}\n`);
process.stdin.resume().once('end', () => process.exit());
