import assert from 'node:assert/strict';
import { Availability, type AvailabilityOptions } from '#shared/availability/availability.ts';
import { Random } from '#test/worlds/random.ts';
import { SimulatedNode, SimulatedTime } from '#test/worlds/simulated-time.ts';

const stepMs = 10;
const quickMs = 1;

/** The outcomes of probing a killed server and a frozen one. */
const outages: ReadonlyArray<readonly [string, () => Promise<unknown>]> = [
  ['refuses connections', () => Promise.reject(new Error('refused'))],
  ['never answers', () => new Promise(() => {})],
];

describe('Availability', () => {
  let time: SimulatedTime;
  let answer: () => Promise<unknown>;
  let probedAt: number[];
  let lines: string[];
  let repair: () => Promise<void>;
  /** What each explanation of an outage waits for. */
  let explanation: Promise<void> | null;
  /** Whether an outage lasts until a person changes something. */
  let isPermanent: boolean;
  let options: AvailabilityOptions;
  let availability: Availability;

  beforeEach(async () => {
    time = new SimulatedTime(new Random(1)).install();
    answer = async () => {};
    probedAt = [];
    lines = [];
    repair = async () => {};
    explanation = null;
    isPermanent = false;
    options = {
      server: 'The server',
      probe: async () => {
        const askedAt = time.now;
        probedAt.push(askedAt);
        await answer();
        hear(time.now - askedAt);
      },
      explain: async (failure) => {
        await explanation;
        return { detail: String(failure), isPermanent };
      },
      isAnswer: () => false,
      isRefusal: () => isPermanent,
      repair: () => repair(),
      timedOut: (waitedMs) => new Error(`no answer within ${waitedMs} ms`),
      log: {
        info: (_, message) => lines.push(`info: ${message}`),
        warn: ({ cause }, message) => lines.push(`warn: ${message} (${cause})`),
        error: () => assert.fail('nothing is an error'),
      },
    };
    availability = new Availability(options);
    hear(quickMs);
    await pass(stepMs);
  });
  afterEach(async () => {
    await availability.close();
    time[Symbol.dispose]();
  });

  const pass = (milliseconds: number) => time.pass(milliseconds);
  /** The server has answered a small request. */
  const hear = (tookMs: number) => availability.heard({ tookMs, isSmall: true });
  const hearManyQuick = () => {
    for (let number = 0; number < 20; number += 1) hear(quickMs);
    return pass(stepMs);
  };
  const isUnavailable = () => availability.cause !== null;

  for (const [what, silence] of outages) {
    it(`finds within 600 ms that a server ${what}, and probes it twice a second from then on`, async () => {
      answer = silence;
      availability.suspect();
      await pass(600);
      assert.ok(isUnavailable());
      const before = probedAt.length;
      await pass(5_000);
      assert.equal(probedAt.length - before, 10);
    });

    it(`finds within a second that a server answers again that ${what === 'never answers' ? 'never answered' : 'refused connections'}, whenever it comes back`, async () => {
      for (let later = 0; later < 500; later += 50) {
        await pass(stepMs);
        answer = silence;
        availability.suspect();
        await pass(1_000 + later);
        assert.ok(isUnavailable());
        answer = async () => {};
        const cameBackAt = time.now;
        while (isUnavailable()) await pass(stepMs);
        assert.ok(time.now - cameBackAt <= 1_000, `it took ${time.now - cameBackAt} ms`);
      }
    });

    it(`writes one line when a server ${what}, and one when it answers again`, async () => {
      answer = silence;
      availability.suspect();
      await pass(5_000);
      answer = async () => {};
      await pass(1_000);
      assert.equal(lines.length, 2, lines.join('\n'));
      assert.match(
        lines[0] ?? '',
        /^warn: The server cannot be used; it is probed until it can \(Error: (?:refused|no answer)/,
      );
      assert.equal(lines[1], 'info: The server can be used again');
    });
  }

  it('counts a server as unavailable although the explanation fails', async () => {
    const explain = () => Promise.reject(new Error('the explanation failed'));
    availability = new Availability({ ...options, explain });
    answer = () => Promise.reject(new Error('refused'));
    availability.suspect();
    await pass(1_000);
    assert.equal(availability.cause?.detail, 'it does not answer');
  });

  it('ends a wait for work as soon as the server is known to be away', async () => {
    answer = () => Promise.reject(new Error('refused'));
    const outcome = availability.failWhenUnavailable(new Promise(() => {}), ({ detail }) => detail);
    availability.suspect();
    await pass(600);
    assert.equal(await outcome, 'Error: refused');
  });

  describe('waitForRecovery', () => {
    const waitMs = 400;
    const { signal } = new AbortController();
    const goDown = async () => {
      answer = () => Promise.reject(new Error('refused'));
      availability.suspect();
      await pass(600);
      assert.ok(isUnavailable());
    };
    const comeBack = async () => {
      answer = async () => {};
      await pass(1_000);
      assert.ok(!isUnavailable());
    };
    /** Starts a wait. @returns a function that gives the milliseconds that it took; null while it lasts */
    const wait = (ending = signal, milliseconds = waitMs) => {
      const beganAt = time.now;
      let took: number | null = null;
      void availability.waitForRecovery(milliseconds, ending).then(() => {
        took = time.now - beganAt;
      });
      return () => took;
    };

    it('waits for the whole time while the server is available, before and after each outage', async () => {
      for (let outages = 0; outages < 3; outages += 1) {
        const took = wait();
        await pass(2 * waitMs);
        assert.equal(took(), waitMs, `after ${outages} outages`);
        await goDown();
        await comeBack();
      }
    });

    it('ends a wait when the server recovers, in every outage', async () => {
      for (let outages = 0; outages < 3; outages += 1) {
        await goDown();
        const took = wait(signal, 5_000);
        await comeBack();
        assert.ok((took() ?? 5_000) <= 1_000, `it took ${took()} ms in outage ${outages}`);
      }
    });

    it('ends a wait when its signal aborts', async () => {
      const ending = new AbortController();
      const took = wait(ending.signal);
      await pass(100);
      ending.abort();
      await pass(stepMs);
      assert.ok((took() ?? waitMs) < waitMs);
    });
  });

  it('does not consider a server away because its own process stood still', async () => {
    answer = () => new Promise(() => {});
    const node = new SimulatedNode('stalled');
    time.runOn(node, () => availability.suspect());
    await pass(50);
    time.freeze(node);
    await pass(1_350);
    time.thaw(node);
    answer = async () => {};
    await pass(2_000);
    assert.equal(probedAt.length, 2);
    assert.deepEqual(lines, []);
  });

  it('considers a server away in the end, however often its own process stood still', async () => {
    answer = () => new Promise(() => {});
    const node = new SimulatedNode('stalled');
    time.runOn(node, () => availability.suspect());
    for (let stall = 0; stall < 8; stall += 1) {
      await pass(150);
      time.freeze(node);
      await pass(1_000);
      time.thaw(node);
    }
    assert.ok(isUnavailable());
  });

  it('does not consider a server away that answers probes late and calls in time', async () => {
    answer = () => new Promise(() => {});
    for (let call = 0; call < 20; call += 1) {
      availability.suspect();
      await pass(400);
      availability.answered();
    }
    assert.deepEqual(lines, []);
  });

  it('finds a server back whose answers take longer than half a second, and keeps using it', async () => {
    answer = () => new Promise<void>((resolve) => time.in(1_200, resolve));
    availability.suspect();
    await pass(600);
    assert.ok(isUnavailable());
    await pass(3_000);
    assert.ok(!isUnavailable());
    for (let second = 0; second < 20; second += 1) {
      availability.suspect();
      await pass(1_000);
      assert.ok(!isUnavailable());
    }
    assert.equal(lines.length, 2, lines.join('\n'));
  });

  it('finds within 600 ms that a server is away that was slow before and then quick', async () => {
    answer = () => new Promise<void>((resolve) => time.in(1_200, resolve));
    availability.suspect();
    await pass(4_000);
    await hearManyQuick();
    answer = () => new Promise(() => {});
    availability.suspect();
    await pass(600);
    assert.ok(isUnavailable());
  });

  it('does not count the time of a freeze as the response time of a server', async () => {
    const frozen = Promise.withResolvers<void>();
    answer = () => frozen.promise;
    availability.suspect();
    await pass(3_000);
    answer = async () => {};
    frozen.resolve();
    await pass(100);
    assert.ok(!isUnavailable());
    await hearManyQuick();
    answer = () => new Promise(() => {});
    availability.suspect();
    await pass(600);
    assert.ok(isUnavailable());
  });

  it('runs the repair after an outage before the server counts as back', async () => {
    answer = () => Promise.reject(new Error('refused'));
    availability.suspect();
    await pass(600);
    const repaired = Promise.withResolvers<void>();
    repair = () => repaired.promise;
    answer = async () => {};
    await pass(2_000);
    assert.ok(isUnavailable());
    repaired.resolve();
    await pass(stepMs);
    assert.ok(!isUnavailable());
  });

  it('ignores an outage of less than 300 ms', async () => {
    answer = () => Promise.reject(new Error('refused'));
    availability.suspect();
    await pass(200);
    answer = async () => {};
    await pass(1_000);
    assert.ok(!isUnavailable());
    assert.deepEqual(lines, []);
  });

  it('writes at most one line a minute for an outage whose causes alternate, and always the line of its end', async () => {
    let probes = 0;
    answer = () => {
      probes += 1;
      return Promise.reject(new Error(['slow', 'gone', 'refused'][probes % 3]));
    };
    availability.suspect();
    await pass(50_000);
    assert.equal(lines.length, 1, lines.join('\n'));
    await pass(70_000);
    assert.equal(lines.length, 2, lines.join('\n'));
    answer = async () => {};
    await pass(1_000);
    assert.equal(lines.at(-1), 'info: The server can be used again');
    assert.equal(lines.length, 3);
  });

  it('finds a server back while an explanation of its outage takes long, and ignores that explanation', async () => {
    answer = () => Promise.reject(new Error('refused'));
    availability.suspect();
    await pass(600);
    const explained = Promise.withResolvers<void>();
    explanation = explained.promise;
    await pass(5_000);
    answer = async () => {};
    await pass(600);
    assert.ok(!isUnavailable());
    explained.resolve();
    await pass(100);
    assert.ok(!isUnavailable());
    assert.equal(lines.length, 2, lines.join('\n'));
  });

  it('writes the cause of a new outage immediately', async () => {
    for (const cause of ['one', 'other']) {
      answer = () => Promise.reject(new Error(cause));
      availability.suspect();
      await pass(1_000);
      assert.match(lines.at(-1) ?? '', new RegExp(`Error: ${cause}`));
      answer = async () => {};
      await pass(1_000);
    }
  });

  it('probes a server that refuses until a person changes something less and less, and finds it back', async () => {
    isPermanent = true;
    answer = () => Promise.reject(new Error('wrong password'));
    availability.suspect();
    await pass(stepMs);
    assert.ok(isUnavailable());
    assert.equal(probedAt.length, 1, 'no second try shows whether it passes');
    await pass(60_000);
    const before = probedAt.length;
    await pass(300_000);
    assert.ok(probedAt.length - before <= 20, `${probedAt.length - before} probes in five minutes`);
    assert.equal(lines.length, 1, lines.join('\n'));
    answer = async () => {};
    await pass(30_000);
    assert.ok(!isUnavailable());
  });

  describe('of a slow server', () => {
    /** A call in the world's time; null as long as the server does not answer. */
    let responseMs: number | null;
    const respond = async () => {
      if (responseMs === null) return new Promise<void>(() => {});
      return time.wait(responseMs);
    };
    /** Makes one call after the other. @returns a function that ends it */
    const callAlways = () => {
      let isEnded = false;
      const callOnce = async () => {
        const askedAt = time.now;
        await respond();
        availability.heard({ tookMs: time.now - askedAt, isSmall: false });
      };
      void (async () => {
        while (!isEnded) {
          if (!isUnavailable()) await availability.failWhenUnavailable(callOnce(), () => undefined);
          await time.wait(stepMs);
        }
      })();
      return () => {
        isEnded = true;
      };
    };

    for (const slowMs of [200, 400, 1_000, 1_400]) {
      it(`considers it available from the start when each answer takes ${slowMs} ms`, async () => {
        availability = new Availability(options);
        responseMs = slowMs;
        answer = respond;
        const end = callAlways();
        await pass(60_000);
        end();
        assert.deepEqual(lines, []);
      });

      it(`considers it away once at most when its answers begin to take ${slowMs} ms, and away within ${4.5 * slowMs + 1_200} ms when they end`, async () => {
        responseMs = quickMs;
        answer = respond;
        const end = callAlways();
        await pass(1_000);
        responseMs = slowMs;
        await pass(60_000);
        assert.ok(lines.length <= 2, lines.join('\n'));
        assert.ok(!isUnavailable());
        responseMs = null;
        await pass(4.5 * slowMs + 1_200);
        assert.ok(isUnavailable());
        end();
      });
    }
  });

  describe('with a limit of 5 s for silence', () => {
    const limitMs = 5_000;

    beforeEach(() => {
      availability = new Availability({
        ...options,
        silentAfterMs: limitMs,
        isSilence: (failure) => String(failure).includes('no answer'),
      });
      answer = () => new Promise(() => {});
    });

    it('considers a server away after as long without any answer, in one line', async () => {
      availability.suspect();
      await pass(limitMs - 500);
      assert.ok(!isUnavailable());
      await pass(1_000);
      assert.ok(isUnavailable());
      assert.deepEqual(lines.length, 1);
    });

    it('considers no server away whose calls are answered within the limit, however late its probes are', async () => {
      // The generator of Park and Miller: the same pauses in each run.
      let random = 1;
      for (let call = 0; call < 60; call += 1) {
        random = (random * 48_271) % 2_147_483_647;
        availability.suspect();
        await pass(random % (limitMs - 500));
        assert.ok(!isUnavailable(), `call ${call}`);
        availability.answered();
      }
      assert.deepEqual(lines, []);
    });

    it('counts a probe that gives up as silence, and a refused one as a failure', async () => {
      answer = () => Promise.reject(new Error('no answer in time'));
      availability.suspect();
      await pass(limitMs - 2_000);
      assert.ok(!isUnavailable());
      answer = () => Promise.reject(new Error('refused'));
      await pass(1_000);
      assert.ok(isUnavailable());
      assert.match(lines[0] ?? '', /refused/);
    });

    it('ignores a refusal before the server is silent, because it can be connected again', async () => {
      answer = () => Promise.reject(new Error('refused'));
      availability.suspect();
      await pass(200);
      answer = () => new Promise((resolve) => time.in(3_000, () => resolve(undefined)));
      await pass(5_000);
      assert.ok(!isUnavailable());
      assert.deepEqual(lines, []);
    });

    it('finds a server back with the first answer after a long freeze', async () => {
      const frozen = Promise.withResolvers<void>();
      answer = () => frozen.promise;
      availability.suspect();
      await pass(20_000);
      assert.ok(isUnavailable());
      answer = async () => {};
      await pass(600);
      assert.ok(!isUnavailable());
    });
  });
});
