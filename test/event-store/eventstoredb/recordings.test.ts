import { EventStoreDbDouble } from '#test/support/eventstoredb/eventstoredb-double.ts';
import { byScenario, linesOf, recordingsAreThere, recordingsFolder } from '#test/support/eventstoredb/recordings.ts';
import { Replay } from '#test/support/eventstoredb/replay.ts';
import { leaveOut } from '#test/support/left-out.ts';

const suite = 'EventStoreDB double against recordings of a real server';

const files = [
  'session',
  'append-batch',
  'append-unary',
  'read-stream',
  'read-all',
  'subscribe-stream',
  'subscribe-all',
  'subscribe-all-filter',
  'delete-tombstone',
  'stream-metadata',
];

if (recordingsAreThere) describe(suite, () => files.forEach(replayFile));
else leaveOut(suite, `put the recordings in ${recordingsFolder}`);

/** The calls of one file, made again in its order. */
function replayFile(file: string): void {
  describe(file, () => {
    let double: EventStoreDbDouble;
    let replay: Replay;

    before(async () => {
      double = await EventStoreDbDouble.start();
      replay = new Replay(double);
    });

    after(() => double.kill());

    for (const [scenario, lines] of byScenario(linesOf(file))) it(scenario, () => replay.run(lines));
  });
}
