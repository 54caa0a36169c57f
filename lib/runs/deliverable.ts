/** Units that can be delivered: an order for a unit that does not exist cannot. */
export function deliverableUnits(orders: number, initialStock: number): number {
  return Math.min(orders, initialStock);
}
