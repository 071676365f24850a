// Engine colours can be told apart by everyone: contrast on the surface, and distance between any
// two under simulated colour blindness (Machado, Oliveira, Fernandes 2009, severity 1).

import { describe, expect, test } from "vitest";
import { DARK, LIGHT } from "../../src/lib/chart/colours";
import { engineStyle } from "../../src/report/chart/style";

type Three = [number, number, number];

function linear(hex: string): Three {
  return [1, 3, 5].map((i) => {
    const c = Number.parseInt(hex.slice(i, i + 2), 16) / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  }) as Three;
}

function contrast(a: string, b: string): number {
  const luminance = (hex: string) => {
    const [red, green, blue] = linear(hex);
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
}

const times = (matrix: Three[], v: Three) =>
  matrix.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Three;

/** OKLab (Ottosson 2020), scaled so that black and white are 100 apart. */
function oklab(rgb: Three): Three {
  const cone = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    rgb.map((c) => Math.min(1, Math.max(0, c))) as Three,
  ).map(Math.cbrt) as Three;
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cone,
  ).map((c) => c * 100) as Three;
}

const SIGHT: Record<string, Three[]> = {
  normal: [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
  protanopia: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998]],
  deuteranopia: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881]],
  tritanopia: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039]],
};

describe.each([["light", LIGHT], ["dark", DARK]] as const)("%s", (_, colours) => {
  test("lines and marks contrast 3:1 with the surface, text 4.5:1", () => {
    for (const colour of colours.lines) {
      expect(contrast(colour, colours.surface)).toBeGreaterThanOrEqual(3);
    }
    for (const text of [colours.ink, colours.muted]) {
      expect(contrast(text, colours.surface)).toBeGreaterThanOrEqual(4.5);
    }
  });

  test.each(Object.keys(SIGHT))("any two colours stay apart: %s", (sight) => {
    const seen = colours.lines.map((hex) => oklab(times(SIGHT[sight] as Three[], linear(hex))));
    for (const [i, a] of seen.entries()) {
      for (const b of seen.slice(i + 1)) {
        expect(Math.hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2])).toBeGreaterThanOrEqual(8);
      }
    }
  });
});

test("in grey print no two of thirty engines share symbol and dash", () => {
  const marks = Array.from({ length: 30 }, (_, index) => {
    const { symbol, dash } = engineStyle(index);
    return JSON.stringify([symbol, dash]);
  });
  expect(new Set(marks).size).toBe(30);
});
