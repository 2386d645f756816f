import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Surroundings } from './scenario.ts';

interface ProviderOptions {
  readonly models: ReadonlyArray<string>;
  /** Whether it answers in the form of Responses, or of chat completions alone. */
  readonly speaksResponses: boolean;
}

/** Starts a provider outside of the service, and makes the configuration of a gateway that asks it. */
export async function startProvider(
  { models, speaksResponses }: ProviderOptions,
  answer: (model: string, response: ServerResponse) => Promise<void>,
): Promise<Surroundings> {
  const server = createServer((request, response) => {
    let text = '';
    request.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
    });
    request.on('end', () => void answer((JSON.parse(text) as { model: string }).model, response));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-provider-'));
  const file = join(folder, 'gateway.json');
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  const providers = { outside: { kind: 'openai-compatible', baseUrl, responses: speaksResponses } };
  const targets = (model: string) => ({ targets: [{ provider: 'outside', model }], retries: 0 });
  await writeFile(
    file,
    JSON.stringify({ providers, models: Object.fromEntries(models.map((model) => [model, targets(model)])) }),
  );
  return {
    environment: { GATEWAY_CONFIG: file },
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await rm(folder, { recursive: true });
    },
  };
}
