/** The promise's value, or the fallback's when it takes longer. The promise itself goes on, unheard. */
export async function within<Value, Fallback>(
  promise: Promise<Value>,
  limitMs: number,
  fallback: Fallback,
): Promise<Value | Fallback> {
  promise.catch(() => {});
  const { promise: expired, resolve } = Promise.withResolvers<Fallback>();
  const timer = setTimeout(() => resolve(fallback), limitMs);
  try {
    return await Promise.race([promise, expired]);
  } finally {
    clearTimeout(timer);
  }
}
