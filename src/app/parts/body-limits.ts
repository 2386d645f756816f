import type { Limits } from '#app/config.ts';
import type { ArrivalLimits } from '#exchange/body.ts';
import type { GatewayLimits } from '#gateway/gateway-call.ts';

export function arrivalLimits({ idleTimeoutMs, uploadTimeoutMs }: Limits): ArrivalLimits {
  return { idleMs: idleTimeoutMs, totalMs: uploadTimeoutMs };
}

export function gatewayLimits(limits: Limits): GatewayLimits {
  const { maxJsonBytes, maxGatewayValues, maxAudioBytes } = limits;
  return { maxJsonBytes, maxJsonValues: maxGatewayValues, maxAudioBytes, arrival: arrivalLimits(limits) };
}
