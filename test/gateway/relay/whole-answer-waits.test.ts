import assert from 'node:assert/strict';
import { type Behaviour, completion, error, FakeProvider, json, silence } from '#test/gateway/support/fake-provider.ts';
import { type GatewayService, post, startGateway } from '#test/gateway/support/gateway-service.ts';
import { movedTime } from '#test/gateway/support/moved-time.ts';
import { eventually } from '#test/support/run/eventually.ts';

describe('The wait for a whole answer', () => {
  const time = movedTime();
  let providers: ReadonlyArray<FakeProvider>;
  let service: GatewayService;

  before(async () => {
    providers = await Promise.all([FakeProvider.start(), FakeProvider.start(), FakeProvider.start()]);
  });
  after(() => Promise.all(providers.map((provider) => provider.stop())));
  beforeEach(async () => {
    service = await startGateway(configuration());
  });
  afterEach(() => service.stop());

  /** A model for each number of targets. */
  const configuration = (timeouts: object = {}) => {
    const targets = providers.map((_, index) => ({ provider: `p${index}`, model: 'x' }));
    return {
      providers: Object.fromEntries(
        providers.map(({ baseUrl }, index) => [`p${index}`, { kind: 'openai-compatible', baseUrl, timeouts }]),
      ),
      models: {
        alone: { targets: targets.slice(0, 1) },
        two: { targets: targets.slice(0, 2) },
        three: { targets },
      },
    };
  };
  const ask = (model: string) =>
    post(service, '/v1/chat/completions', { model, messages: [{ role: 'user', content: 'hi' }] });
  const embed = (model: string) => post(service, '/v1/embeddings', { model, input: 'hi' });
  const begin = (...behaviours: ReadonlyArray<Behaviour>) => {
    for (const [index, provider] of providers.entries()) provider.answers(behaviours[index] ?? silence);
  };
  const isAsked = (index: number) => (providers[index]?.seen.length ?? 0) > 0;
  const isLeft = (index: number) => providers[index]?.seen[0]?.closedAt !== null;
  /** Waits until a target is asked, and sees that it is asked no longer than a time. */
  const outlast = async (index: number, milliseconds: number) => {
    await eventually(() => isAsked(index));
    await time.pass(milliseconds - 2_000);
    assert.equal(isLeft(index), false);
    await time.pass(3_000);
    await eventually(() => isLeft(index));
  };

  it('is five minutes for the only target, and for the last one', async () => {
    begin(silence);
    const alone = ask('alone');
    await outlast(0, 300_000);
    assert.equal((await alone).status, 504);
    begin(error(401, 'x'), silence);
    const last = ask('two');
    await outlast(1, 300_000);
    assert.equal((await last).status, 504);
  });

  it('leaves the same time for each target that is left', async () => {
    begin(silence, silence, json(completion('from the last')));
    const answer = ask('three');
    await outlast(0, 200_000);
    await outlast(1, 200_000);
    assert.match((await answer).text, /from the last/);
  });

  it('is a minute at least', async () => {
    service.configure(configuration({ totalMs: 90_000 }));
    begin(silence, json(completion('from the last')));
    const answer = ask('two');
    await outlast(0, 60_000);
    assert.match((await answer).text, /from the last/);
  });

  it('is what the configuration states', async () => {
    for (const stated of [{ headersMs: 20_000 }, { firstContentMs: 20_000 }]) {
      service.configure(configuration(stated));
      begin(silence);
      const answer = ask('alone');
      await outlast(0, 20_000);
      assert.equal((await answer).status, 504);
    }
  });

  it('is not that of operations that are quick', async () => {
    begin(silence);
    const answer = embed('alone');
    await outlast(0, 60_000);
    assert.equal((await answer).status, 504);
  });

  describe('of which nothing but empty lines comes', () => {
    /** Sends empty lines, one every 50 s, and then the answer. */
    const blank =
      (lines: number): Behaviour =>
      async (res) => {
        res.writeHead(200, { 'content-type': 'application/json' });
        for (let line = 0; line < lines && !res.destroyed; line += 1) {
          res.write('\n');
          await time.pass(50_000);
        }
        res.end(JSON.stringify(completion('late')));
      };

    it('goes up to the total for the last target', async () => {
      begin(blank(10));
      assert.match((await ask('alone')).text, /late/);
      begin(blank(20));
      assert.equal((await ask('alone')).status, 504);
    });

    it('leaves their time for the others', async () => {
      begin(blank(20), json(completion('from the last')));
      assert.match((await ask('two')).text, /from the last/);
    });
  });
});
