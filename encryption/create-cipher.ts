import { GatewayError } from '../domain/gateway-error.ts';
import type { Cipher } from './cipher.ts';
import { createKeyRing, type SealingKey } from './key-ring.ts';

/** Without keys the gateway runs, and refuses what would store a secret with `encryption_not_configured`. */
export function createCipher(keys: readonly SealingKey[]): Cipher {
  const [current, ...older] = keys;
  return current === undefined ? KEYLESS : createKeyRing([current, ...older]);
}

const KEYLESS: Cipher = {
  seal: async () => notConfigured(),
  open: async () => notConfigured(),
  keyIdOf: () => notConfigured(),
  get currentKeyId() {
    return notConfigured();
  },
};

/** Refuses early what could not be sealed later. Throws `encryption_not_configured`. */
export function requireSealing(cipher: Pick<Cipher, 'currentKeyId'>): void {
  void cipher.currentKeyId;
}

function notConfigured(): never {
  throw new GatewayError(
    'encryption_not_configured',
    'The gateway was started without a key to seal secrets with. Whoever runs it sets BATCHGATE_ENCRYPTION_KEYS.',
  );
}
