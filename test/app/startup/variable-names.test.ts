import assert from 'node:assert/strict';
import { readConfig } from '#app/config.ts';
import { findMisspelt, recordReads } from '#app/startup/variable-names.ts';

describe('findMisspelt', () => {
  const misspeltIn = (environment: Record<string, string>) => {
    const known = new Set<string>();
    readConfig(recordReads(environment, known));
    return findMisspelt(environment, known).map(({ variable, resembles }) => [variable, resembles]);
  };

  it('names a variable that resembles one of ours, with the one that it resembles', () => {
    const environment = {
      REQUEST_PER_MINUTE: '5',
      DATADIR: 'x',
      log_level: 'x',
      GATEWAY_CONFG: 'x',
      MAX_BODY_BYTE: '1',
    };
    assert.deepEqual(misspeltIn(environment), [
      ['REQUEST_PER_MINUTE', 'REQUESTS_PER_MINUTE'],
      ['DATADIR', 'DATA_DIR'],
      ['log_level', 'LOG_LEVEL'],
      ['GATEWAY_CONFG', 'GATEWAY_CONFIG'],
      ['MAX_BODY_BYTE', 'MAX_BODY_BYTES'],
    ]);
  });

  it('leaves our own variables and those of other programs alone', () => {
    const environment = {
      REQUESTS_PER_MINUTE: '5',
      PATH: '/bin',
      HOSTS: 'x',
      ROLE: 'x',
      NODE_ENV: 'x',
      HOSTNAME: 'x',
      OPENAI_API_KEY: 'x',
    };
    assert.deepEqual(misspeltIn(environment), []);
  });
});
