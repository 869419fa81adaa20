import { describe, expect, it } from "vitest";
import { amount, amountsText, amountText, gpuText } from "./amounts";

describe("amount", () => {
  it.each([
    ["2", 2],
    ["500m", 0.5],
    ["16Gi", 16 * 2 ** 30],
    ["1e3", 1000],
    ["1.5k", 1500],
  ])("reads %s", (text, number) => {
    expect(amount(text)).toBeCloseTo(number);
  });

  it("does not read what is none", () => {
    expect(amount("lots")).toBeNaN();
    expect(amount("4 Zi")).toBeNaN();
  });
});

it("says amounts as people do", () => {
  expect(amountText("memory", "8589934592")).toBe("8.0 GiB");
  expect(amountText("requests.cpu", "1500m")).toBe("1.5");
  expect(amountText("cpu", "lots")).toBe("lots");
  const total = { cpu: "2", memory: "8Gi", gpus: ["a", "b"] };
  expect(amountsText({ cpu: "1", memory: "3Gi", gpus: ["a"] }, total)).toBe(
    "1 of 2 CPUs, 3.0 GiB of 8.0 GiB, 1 of 2 GPUs",
  );
  const pool = { nodes: 1, total: { gpus: { A100: 8 } }, free: { gpus: {} } };
  expect(gpuText(pool)).toBe("1 node, 0 of 8 A100 free");
});
