"""Image sets of three to eight colors, in files of the official layouts, so that every experiment runs in seconds."""

import io

import numpy as np

N, SIZE = 200, 8


def colors(n, n_classes, random_state=0):
    """Return noise with a bright bar whose place is the class."""
    rng = np.random.RandomState(random_state)
    y = rng.permutation(np.arange(n) % n_classes)
    X = rng.randint(0, 90, (n, SIZE, SIZE, 3)).astype(np.uint8)
    for c in range(n_classes):
        X[y == c, c % SIZE, :, c % 3] += 150
    return X, y


def said_by_people(y, n_classes, random_state=0):
    """Three in ten labels are another class."""
    rng = np.random.RandomState(random_state)
    return np.where(rng.uniform(size=y.size) < 0.3, (y + 1) % n_classes, y)


def _mosaic(X):
    from PIL import Image

    grid = X.reshape(-1, 100, SIZE, SIZE, 3).swapaxes(1, 2).reshape(-1, 100 * SIZE, 3)
    file = io.BytesIO()
    Image.fromarray(grid).save(file, "PNG")
    return np.frombuffer(file.getvalue(), dtype=np.uint8)


def write_mosaics(path, n_classes=3, **noisy):
    (X, y), (X_test, y_test) = colors(N, n_classes), colors(100, n_classes, 1)
    np.savez(
        path,
        train_mosaic_0=_mosaic(X),
        test_mosaic_0=_mosaic(X_test),
        train_label=y,
        test_label=y_test,
        class_names=np.array(["cat", "dog", "owl", "fox"][:n_classes]),
        **{name: said_by_people(y, n_classes) for name in noisy},
    )


def write_medmnist(path, n_classes=4):
    (X, y), (X_test, y_test) = colors(N, n_classes), colors(100, n_classes, 1)
    gray, gray_test = X.max(axis=3), X_test.max(axis=3)
    np.savez(path, train_images=gray, train_labels=y[:, None], test_images=gray_test, test_labels=y_test[:, None])


def many_classes(folder=None, n_classes=8):
    from dips.datasets._image_sets import ImageData

    (X, y), test = colors(N, n_classes), colors(100, n_classes, 1)
    return ImageData(X, y, *test, {"noisy": said_by_people(y, n_classes)})
