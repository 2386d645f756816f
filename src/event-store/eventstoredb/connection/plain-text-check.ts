import { connect } from 'node:tls';
import type { UnavailableCause } from '#shared/availability/availability.ts';
import { causeOf } from './unavailable-cause.ts';

const handshakeMs = 300;

/**
 * Reads why a call failed. A server that wants TLS only ends a connection of plain text, which looks like one that is
 * down: so it is tried, where the URL says `tls=false`, whether it completes a TLS handshake.
 * @param url see `connectionUrl`
 */
export async function explainFailure(url: string, failure: unknown): Promise<UnavailableCause> {
  const cause = causeOf(failure);
  if (cause.isPermanent || !/[?&]tls=false(?:&|$)/i.test(url)) return cause;
  const [, authority = ''] = /^[^/]+:\/\/(?:[^@?/]*@)?([^?/]+)/.exec(url) ?? [];
  const answers = await Promise.all(authority.split(',').map(speaksTls));
  return answers.includes(true) ? wantsTls : cause;
}

const wantsTls: UnavailableCause = {
  detail: 'EVENT_STORE_URL says tls=false and the server speaks TLS: use tls=true',
  isPermanent: true,
};

function speaksTls(address: string): Promise<boolean> {
  const url = URL.parse(`tls://${address}`);
  if (url === null) return Promise.resolve(false);
  return new Promise((resolve) => {
    const port = url.port === '' ? 2113 : Number(url.port);
    // Only whether it speaks TLS is asked: nothing is sent over it.
    const socket = connect({ host: url.hostname, port, rejectUnauthorized: false, timeout: handshakeMs });
    const end = (speaks: boolean) => {
      socket.destroy();
      resolve(speaks);
    };
    socket.once('secureConnect', () => end(true));
    for (const event of ['error', 'timeout', 'close']) socket.once(event, () => end(false));
  });
}
