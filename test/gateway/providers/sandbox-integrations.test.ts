import { builtInConfiguration } from '#gateway/config/configuration-file.ts';
import { type GatewayService, startGateway } from '#test/gateway/support/gateway-service.ts';
import { Recordings } from '#test/support/recordings/player.ts';

describe('the sandbox and the recorded requests of integrations', () => {
  let service: GatewayService;

  before(async () => {
    service = await startGateway(builtInConfiguration);
  });
  after(() => service.stop());

  const recordings = new Recordings('sandbox');
  for (const name of recordings.names) it(`as before, ${name}`, () => recordings.play(name).step(service.url));
});
