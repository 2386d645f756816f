import { timestamp } from '#domain/codecs/time.ts';

/** Ids of examples, which refer to each other. */
export const exampleIds = {
  organization: 'cq4m1x0tz8d2k6v9w3b5n7p1',
  customer: 'cu6d0v4z8n2b7w1k5x9m3q7t',
  customerProject: 'cr9t3q7x1m5k0z4v8d2n6b0w',
  project: 'cw2k8d0xq5m9t1v4z7b3n6p8',
  flow: 'cz7t3m1kx0q4v8d2w6b9n5p0',
  flowVersion: 'cz7t3m1kx0q4v8d2w6b9n5p01x0q4v8d',
  agentProfile: 'cw2k8d0xq5m9t1v4z7b3n6p87w1b5n2p',
  phoneNumber: 'cb5n9p3w7q1x0m4t8k2d6v1z',
  integrationTemplate: 'ci1p5d9w3b7q0x4m8t2k6v1z',
  template: 'ct6w0b4n8p2z7x1m5q9v3d2k',
  templateVersion: 'ct6w0b4n8p2z7x1m5q9v3d2k5q9v3d2k',
  apiKey: 'ck8d2v6z0x4q9m3t7w1b5n2p',
  store: 'cs3w7b1n5p9z0x4q8m2t6d1v',
  instance: 'cn4x8q2m6t0v3z7b1d5w9k2p',
  file: 'file-cf2k6t0w4z8n1b5q9x3m7v0d',
  batch: 'batch_cb7v1z5d9w3k0p4x8m2t6q1n',
  webhookEndpoint: 'ce0w4k8p2t6x1b5f9j3n7r1v',
} as const;

const exampleTime = '2026-01-05T09:30:00.000Z';

export const recordTimes = {
  createdAt: [timestamp, exampleTime],
  updatedAt: [timestamp, exampleTime],
} as const;
