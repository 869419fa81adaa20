import { expect, it } from "vitest";
import type { Cloud, Refusal, Rented } from "../../data/clouds";
import { cloudUses, kindText, placeText, rentedText } from "./clouds";

const CLOUD: Cloud = {
  name: "aws",
  usable: true,
  account: "1234",
  user: "me",
  source: "~/.aws",
  regions: ["us-east-1"],
  problem: "",
  hint: "",
  missing: {},
};
const RENTED: Rented = {
  cluster: "dev",
  cloud: "aws",
  region: "us-east-1",
  zone: "us-east-1a",
  instanceType: "p5.48xlarge",
  spot: false,
  reservation: "",
  nodes: 2,
  state: "RUNNING",
  hourlyPrice: 110,
  message: "",
  since: "",
};
const REFUSAL: Refusal = { ...RENTED, error: "no room", at: "" };

it("has a cloud without credentials among the used ones only while something is rented there", () => {
  const broken = { ...CLOUD, name: "gcp", usable: false };
  expect(cloudUses([CLOUD, broken], [], [])).toEqual({
    used: [{ cloud: CLOUD, rented: [], refusals: [] }],
    unusable: [broken],
  });
  const rented = { ...RENTED, cloud: "gcp" };
  expect(cloudUses([broken], [rented, RENTED], [REFUSAL])).toEqual({
    used: [{ cloud: broken, rented: [rented], refusals: [] }],
    unusable: [],
  });
});

it("says what is rented", () => {
  expect(rentedText([])).toBe("nothing");
  expect(rentedText([RENTED, { ...RENTED, nodes: 1, hourlyPrice: 0 }])).toBe(
    "3 machines of 2 clusters, $110.00 an hour",
  );
  expect(kindText({ ...RENTED, spot: true })).toBe("p5.48xlarge, spot");
  expect(kindText({ ...RENTED, reservation: "cr-1" })).toBe("p5.48xlarge, reserved");
  expect(kindText({ instanceType: "", spot: false })).toBe("not chosen yet");
  expect([placeText(RENTED), placeText({ region: "eu", zone: "" })]).toEqual(["us-east-1a", "eu"]);
});
