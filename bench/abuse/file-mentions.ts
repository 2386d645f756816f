import type { Server } from '#bench/http-processes/processes.ts';
import { besideOtherTenant } from './other-tenant.ts';
import { type ProjectKey, repeat } from './project-key.ts';

const rounds = 20;
const inFlight = 2;
/** Of each file, in a request that is refused, and in one that is answered. */
const mentions = { refused: 99_000, answered: 1_000 };
const smallFile = { bytes: 1, name: `${'😀'.repeat(250)}.txt` };
const largeFile = { bytes: 20 * 1024, name: 'large.txt' };

/** One file that each request names as often as it can. */
export default besideOtherTenant({
  title: `requests that name one file ${mentions.refused} times`,
  maxFreezeMs: 100,
  maxSlowdown: 3,
  prepare: async () => undefined,
  attack: async (service, key) => {
    const small = await upload(service, key, smallFile);
    const large = await upload(service, key, largeFile);
    const input = (id: string) => repeated(mentions.refused, { type: 'input_file', file_id: id });
    const file = { type: 'file', file: { file_id: large } };
    const requests = [
      { path: '/v1/responses', status: 400, body: { input: [{ role: 'user', content: input(small) }] } },
      {
        path: '/v1/chat/completions',
        status: 200,
        body: { messages: [{ role: 'user', content: repeated(mentions.answered, file) }] },
      },
    ].map(({ body, ...more }) => ({ ...more, body: JSON.stringify({ model: 'auto', ...body }) }));
    await repeat(rounds, inFlight, async (round) => {
      const { path, status, body } = requests[round % requests.length] ?? { path: '', status: 0, body: '' };
      const answer = await send(service, key, path, body);
      if (answer.status !== status) throw new Error(`${path} was answered with ${answer.status} ${answer.text}`);
    });
  },
});

function repeated(count: number, part: object): ReadonlyArray<object> {
  return Array.from({ length: count }, () => part);
}

async function upload({ url }: Server, { key }: ProjectKey, { bytes, name }: typeof smallFile): Promise<string> {
  const form = new FormData();
  form.set('purpose', 'user_data');
  form.set('file', new File([Buffer.alloc(bytes, 'x')], name, { type: 'text/plain' }));
  const answer = await fetch(`${url}/v1/files`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}` },
    body: form,
  });
  const { id } = (await answer.json()) as { id?: string };
  if (id === undefined) throw new Error(`The upload was answered with ${answer.status}`);
  return id;
}

async function send({ url }: Server, { key }: ProjectKey, path: string, body: string) {
  const answer = await fetch(url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body,
  });
  return { status: answer.status, text: (await answer.text()).slice(0, 200) };
}
