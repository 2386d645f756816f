import assert from 'node:assert/strict';
import { delay, withTimeout } from '#shared/async/timed-waits.ts';
import { clock } from '#shared/clock.ts';
import { Random } from './random.ts';
import { SimulatedNode, SimulatedTime } from './simulated-time.ts';

describe('The time of a world', () => {
  it('passes as soon as everything that is due has run, in the order of the due times', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const ran: string[] = [];
    const waited = async (ms: number) => {
      await delay(ms);
      ran.push(`${ms} at ${clock.now()}`);
    };
    void waited(60_000);
    void waited(10);
    const late = withTimeout(500, new Promise<never>(() => undefined), 'late');
    void late.then((result) => ran.push(`${result} at ${clock.now()}`));

    await time.pass(120_000);

    assert.deepEqual(ran, ['10 at 10', 'late at 500', '60000 at 60000']);
    assert.equal(time.now, 120_000);
  });

  it('keeps what comes due on a frozen node until the node is thawed, and drops what comes due on a dead one', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const ran: string[] = [];
    const nodes = ['frozen', 'dead', 'running'].map((name) => new SimulatedNode(name));
    for (const node of nodes)
      time.runOn(node, async () => {
        await delay(100);
        ran.push(`${time.currentNode?.name} at ${clock.now()}`);
      });
    time.freeze(nodes[0] as SimulatedNode);
    time.kill(nodes[1] as SimulatedNode);
    await time.pass(1_000);
    time.thaw(nodes[0] as SimulatedNode);
    await time.pass(1_000);

    assert.deepEqual(ran, ['running at 100', 'frozen at 1000']);
  });

  it('repeats an interval until it is cleared', async () => {
    using time = new SimulatedTime(new Random(1)).install();
    const ran: number[] = [];
    const timer = clock.setInterval(() => ran.push(clock.now()), 100);
    await time.pass(350);
    clock.clearInterval(timer);
    await time.pass(1_000);

    assert.deepEqual(ran, [100, 200, 300]);
  });

  it('puts the clock of the machine back', async () => {
    new SimulatedTime(new Random(1)).install()[Symbol.dispose]();
    const before = performance.now();
    assert.ok(clock.now() >= before);
  });
});
